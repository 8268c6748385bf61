# Oracle of the Cox model: coxph, survfit, basehaz and ridge of R's survival on the tables of this repository.
# Run from the repository root: Rscript test/oracles/cox/cox.R   (writes test/oracles/cox/cox.json)
suppressMessages(library(survival)); options(warn=1)
num<-function(x) suppressWarnings(ifelse(is.na(x),"null",{s15<-sprintf("%.15g",x); s16<-sprintf("%.16g",x); ifelse(as.numeric(s15)==x,s15,ifelse(as.numeric(s16)==x,s16,sprintf("%.17g",x)))}))
js<-function(x){
  if(is.null(x)) return("null")
  if(is.list(x)) return(paste0("{",paste0('"',names(x),'":',vapply(x,js,""),collapse=","),"}"))
  if(is.matrix(x)) return(paste0("[",paste(apply(x,1,function(r) paste0("[",paste(num(r),collapse=","),"]")),collapse=","),"]"))
  if(is.character(x)) v<-paste0('"',gsub('"','\\\\"',x),'"') else v<-num(as.numeric(x))
  if(length(x)==1&&!inherits(x,"AsIs")) v else paste0("[",paste(v,collapse=","),"]")
}
tight<-coxph.control(eps=1e-12,toler.chol=1e-14,iter.max=50,timefix=FALSE)
fit1<-function(time,status,X,ties,...) coxph(Surv(time,status)~X,ties=ties,control=tight,...)
fitout<-function(f,full=TRUE) c(list(coef=I(unname(coef(f))),se=I(sqrt(diag(vcov(f)))),loglik_null=f$loglik[1],loglik=f$loglik[2]),
  if(full) list(vcov=unname(vcov(f)),lr=2*diff(f$loglik),score=unname(f$score),wald=unname(f$wald.test)))
# cumulative hazard at x=0 at the event times, from survfit at a new person with x=0 (ties as in the fit)
base<-function(f,time,status,X){ s<-survfit(f,newdata=list(X=matrix(0,1,ncol(X))),censor=TRUE); et<-sort(unique(time[status==1])); I(as.vector(s$cumhaz)[match(et,s$time)]) }

n<-read.csv("datasets/nwtco/nwtco.csv"); f<-read.csv("datasets/flchain/flchain.csv")
p<-read.csv("test/tables/pbc.csv"); l<-read.csv("test/tables/lung.csv"); g<-read.csv("test/tables/gbsg.csv")
D<-list(
 nwtco=list(time=n$edrel,status=n$rel,X=with(n,cbind(histol2=1*(histol==2),stage2=1*(stage==2),stage3=1*(stage==3),stage4=1*(stage==4),study4=1*(study==4),age=age))),
 flchain=list(time=f$futime,status=f$death,X=with(f,cbind(age=age,sexM=1*(sex=="M"),sample.yr=sample.yr,kappa=kappa,lambda=lambda,flc.grp=flc.grp,mgus=mgus))),
 pbc=list(time=p$time,status=1*(p$status==2),X=with(p,cbind(age=age,edema=edema,log_bili=log(bili),log_albumin=log(albumin),log_protime=log(protime)))),
 lung=list(time=l$time,status=1*(l$status==2),X=with(l,cbind(age=age,sex=sex,ph.ecog=ph.ecog))),
 gbsg=list(time=g$rfstime,status=g$status,X=with(g,cbind(age=age,meno=meno,size=size,grade=grade,nodes=nodes,pgr=pgr,er=er,hormon=hormon))))
for(t in c("heavy_ties","censored_tail")){ d<-read.csv(paste0("test/tables/tiny_",t,".csv")); D[[paste0("tiny_",t)]]<-list(time=d$time,status=d$status,X=cbind(x=d$x)) }
# times rounded up to 12 values: deaths tied by the dozen
D$lung_tied<-with(D$lung,list(time=ceiling(time*12/max(time)),status=status,X=X))
out<-list()
for(nm in names(D)){
  x<-D[[nm]]; ok<-complete.cases(x$X); X<-x$X[ok,,drop=FALSE]; tt<-x$time[ok]; ss<-x$status[ok]
  b<-pmin(pmax(ceiling(x$time*102/max(x$time)),1),102)[ok]
  fe<-fit1(tt,ss,X,"efron"); fb<-fit1(tt,ss,X,"breslow")
  o<-list(n=length(tt),events=sum(ss),columns=I(colnames(X)),efron=fitout(fe),breslow=fitout(fb),
    binned_efron=fitout(fit1(b,ss,X,"efron"),FALSE),binned_breslow=fitout(fit1(b,ss,X,"breslow"),FALSE),
    event_time=I(sort(unique(tt[ss==1]))),H0_efron=base(fe,tt,ss,X),H0_breslow=base(fb,tt,ss,X))
  # three new persons: the quartiles of every column
  P<-apply(X,2,quantile,c(.25,.5,.75),names=FALSE,type=7); if(ncol(X)==1) P<-matrix(P,3,1); at<-quantile(tt,c(.02,.1,.3,.5,.7,.9,1),names=FALSE,type=1)
  at<-sort(unique(c(0,at,at[4]+.25,max(tt)*2)))
  curve<-function(f) t(summary(survfit(f,newdata=list(X=P),censor=TRUE),times=at,extend=TRUE)$surv)
  o$persons<-P; o$curve_time<-I(at); o$curves_efron<-curve(fe); o$curves_breslow<-curve(fb)
  # case weights 0.5, 1, 1.5, … by row, and integer weights
  w<-0.5*(1+(seq_along(tt)-1)%%4)
  if(nm %in% c("lung","lung_tied","pbc","tiny_heavy_ties")){
    # robust=FALSE: the inverse information, not the sandwich
    we<-fit1(tt,ss,X,"efron",weights=w,robust=FALSE); wb<-fit1(tt,ss,X,"breslow",weights=w,robust=FALSE)
    o$weighted_efron<-fitout(we); o$weighted_breslow<-fitout(wb)
    o$weighted_H0_efron<-base(we,tt,ss,X); o$weighted_H0_breslow<-base(wb,tt,ss,X)
    rg<-function(ties,theta){ r<-coxph(Surv(tt,ss)~ridge(X,theta=theta,scale=FALSE),ties=ties,control=coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=100,outer.max=50,timefix=FALSE)); list(theta=theta,coef=I(unname(coef(r))),se=I(sqrt(diag(r$var))),loglik=r$loglik[2]) }
    o$ridge_efron<-rg("efron",2); o$ridge_breslow<-rg("breslow",20)
  }
  out[[nm]]<-o
}
# What cannot be estimated
l2<-l[complete.cases(l[,c("age","sex","ph.ecog")]),]; tt<-l2$time; ss<-1*(l2$status==2)
X<-with(l2,cbind(age=age,twice=2*age-3,sex=sex,one=1,mix=age+sex,ph.ecog=ph.ecog))
a<-coxph(Surv(tt,ss)~X,control=tight)
out$aliased<-list(columns=I(colnames(X)),coef=I(unname(coef(a))),se=I(sqrt(diag(vcov(a)))),loglik=a$loglik[2],score=unname(a$score),wald=unname(a$wald.test),df=sum(!is.na(coef(a))))
d<-read.csv("test/tables/tiny_heavy_ties.csv"); d$z<-1*(d$time<=2&d$status==1) # no death without z before the last with z
m<-withCallingHandlers(coxph(Surv(time,status)~x+z,d),warning=function(w){cat("R warns:",conditionMessage(w),"\n");invokeRestart("muffleWarning")})
out$monotone<-list(z=I(d$z),coef=I(unname(coef(m))),loglik=m$loglik[2],iter=m$iter)
out<-c(list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival"))),out)
writeLines(js(out),"test/oracles/cox/cox.json")
